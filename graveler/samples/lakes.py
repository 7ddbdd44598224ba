"""Lakes of the world, with rounded numbers from general reference works.

The columns have the names of lakeFS's sample, so that the queries of its quickstart run.
"""

from typing import NamedTuple


class Lake(NamedTuple):
    """One lake; a lake in several countries is listed under one of them."""

    name: str
    country: str
    depth_m: int  # the greatest
    area_km2: int


LAKES = (
    Lake("Nahuel Huapi", "Argentina", 464, 530),
    Lake("Great Bear Lake", "Canada", 446, 31153),
    Lake("Great Slave Lake", "Canada", 614, 27200),
    Lake("Huron", "Canada", 229, 59600),
    Lake("Ontario", "Canada", 244, 18960),
    Lake("General Carrera", "Chile", 586, 1850),
    Lake("O'Higgins", "Chile", 836, 1013),
    Lake("Kivu", "Democratic Republic of the Congo", 480, 2700),
    Lake("Arresø", "Denmark", 6, 40),
    Lake("Esrum Sø", "Denmark", 22, 17),
    Lake("Furesø", "Denmark", 38, 9),
    Lake("Inari", "Finland", 92, 1040),
    Lake("Saimaa", "Finland", 86, 4400),
    Lake("Chiemsee", "Germany", 73, 80),
    Lake("Constance", "Germany", 251, 536),
    Lake("Königssee", "Germany", 190, 5),
    Lake("Balaton", "Hungary", 12, 592),
    Lake("Matano", "Indonesia", 590, 164),
    Lake("Toba", "Indonesia", 505, 1130),
    Lake("Garda", "Italy", 346, 370),
    Lake("Maggiore", "Italy", 372, 212),
    Lake("Biwa", "Japan", 104, 670),
    Lake("Tazawa", "Japan", 423, 26),
    Lake("Caspian Sea", "Kazakhstan", 1025, 371000),
    Lake("Turkana", "Kenya", 109, 6405),
    Lake("Issyk-Kul", "Kyrgyzstan", 668, 6236),
    Lake("Malawi", "Malawi", 706, 29600),
    Lake("Manapouri", "New Zealand", 444, 142),
    Lake("Taupo", "New Zealand", 186, 616),
    Lake("Te Anau", "New Zealand", 417, 344),
    Lake("Ohrid", "North Macedonia", 288, 358),
    Lake("Hornindalsvatnet", "Norway", 514, 51),
    Lake("Mjøsa", "Norway", 453, 365),
    Lake("Titicaca", "Peru", 281, 8372),
    Lake("Baikal", "Russia", 1642, 31722),
    Lake("Ladoga", "Russia", 230, 17700),
    Lake("Onega", "Russia", 127, 9700),
    Lake("Vänern", "Sweden", 106, 5650),
    Lake("Vättern", "Sweden", 128, 1900),
    Lake("Geneva", "Switzerland", 310, 580),
    Lake("Lucerne", "Switzerland", 214, 114),
    Lake("Neuchâtel", "Switzerland", 152, 218),
    Lake("Tanganyika", "Tanzania", 1470, 32900),
    Lake("Van", "Turkey", 451, 3755),
    Lake("Loch Ness", "United Kingdom", 230, 56),
    Lake("Crater Lake", "United States", 594, 53),
    Lake("Erie", "United States", 64, 25700),
    Lake("Michigan", "United States", 281, 58000),
    Lake("Superior", "United States", 406, 82100),
    Lake("Tahoe", "United States", 501, 496),
)
